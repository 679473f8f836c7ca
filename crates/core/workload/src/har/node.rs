//! JSON values that keep only the expected fields, so that unexpected ones cost no memory, and an
//! error can name the place and the value found there.

use core::fmt;
use core::marker::PhantomData;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A single value, or the other kind of value found.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Leaf {
    #[default]
    Missing,
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List,
    Object,
}

impl Leaf {
    /// The text, if it is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Leaf::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// An object with the fields of `T`, or the other kind of value found.
#[derive(Debug, Clone)]
pub(super) enum HarNode<T> {
    Is(T),
    Not(Leaf),
}

/// A list of at most `LIMIT` items, or the other kind of value found.
#[derive(Debug, Clone)]
pub(super) enum List<T, const LIMIT: usize> {
    Is(Vec<T>),
    Not(Leaf),
}

impl<T> Default for HarNode<T> {
    fn default() -> Self {
        HarNode::Not(Leaf::Missing)
    }
}

impl<T, const LIMIT: usize> Default for List<T, LIMIT> {
    fn default() -> Self {
        List::Not(Leaf::Missing)
    }
}

/// The value found, for an error; long texts are cut.
impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Leaf::Missing => f.write_str("nothing"),
            Leaf::Null => f.write_str("null"),
            Leaf::Bool(value) => write!(f, "{value}"),
            Leaf::Number(value) if value.abs() < 1e15 => write!(f, "{value}"),
            Leaf::Number(value) => write!(f, "{value:e}"),
            Leaf::Text(text) => {
                let cut: String = text.chars().take(60).collect();
                write!(f, "{cut:?}")
            }
            Leaf::List => f.write_str("a list"),
            Leaf::Object => f.write_str("an object"),
        }
    }
}

/// A visitor's methods for single values, each turned into the result by `$leaf`.
macro_rules! scalars {
    ($leaf:expr) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON value")
        }
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok($leaf(Leaf::Null))
        }
        fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
            Ok($leaf(Leaf::Bool(value)))
        }
        fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
            Ok($leaf(Leaf::Number(value as f64)))
        }
        fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
            Ok($leaf(Leaf::Number(value as f64)))
        }
        fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
            Ok($leaf(Leaf::Number(value)))
        }
        fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
            Ok($leaf(Leaf::Text(value.to_owned())))
        }
    };
}

struct LeafVisitor;

impl<'de> Visitor<'de> for LeafVisitor {
    type Value = Leaf;
    scalars!(core::convert::identity);
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Leaf, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Leaf::List)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Leaf, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Leaf::Object)
    }
}

struct NodeVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NodeVisitor<T> {
    type Value = HarNode<T>;
    scalars!(HarNode::Not);
    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<HarNode<T>, A::Error> {
        LeafVisitor.visit_seq(seq).map(HarNode::Not)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<HarNode<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(HarNode::Is)
    }
}

struct ListVisitor<T, const LIMIT: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const LIMIT: usize> Visitor<'de> for ListVisitor<T, LIMIT> {
    type Value = List<T, LIMIT>;
    scalars!(List::Not);
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            if items.len() == LIMIT {
                return Err(A::Error::custom(format_args!(
                    "found more than {LIMIT} items in a list, expected at most that"
                )));
            }
            items.push(item);
        }
        Ok(List::Is(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        LeafVisitor.visit_map(map).map(List::Not)
    }
}

impl<'de> Deserialize<'de> for Leaf {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LeafVisitor)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for HarNode<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>, const LIMIT: usize> Deserialize<'de> for List<T, LIMIT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}
