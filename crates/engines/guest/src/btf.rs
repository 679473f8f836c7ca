//! The offset of a field in a kernel structure, read from its type information (BTF,
//! Documentation/bpf/btf.rst), which it shows in `/sys/kernel/btf/vmlinux`.

/// Kinds of types that are read here.
const STRUCT: u32 = 4;
const UNION: u32 = 5;

/// The byte offset of `member` in structure `name`, or none if `btf` does not have it.
pub fn offset(btf: &[u8], name: &str, member: &str) -> Option<u32> {
    let word = |at: usize| -> Option<u32> {
        let bytes = btf.get(at..at.checked_add(4)?)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    // The header: magic, version and flags, its own length, types, strings.
    if word(0)? & 0xffff != 0xeb9f {
        return None;
    }
    let header = word(4)? as usize;
    let types = header.checked_add(word(8)? as usize)?;
    let end = types.checked_add(word(12)? as usize)?;
    let strings = header.checked_add(word(16)? as usize)?;
    let called = |at: u32, wanted: &str| {
        let start = strings.saturating_add(at as usize);
        let text = btf.get(start..).unwrap_or_default();
        text.strip_prefix(wanted.as_bytes())
            .is_some_and(|rest| rest.first() == Some(&0))
    };
    let mut at = types;
    while at < end {
        let (named, info) = (word(at)?, word(at + 4)?);
        let (kind, count) = (info >> 24 & 0x1f, info as usize & 0xffff);
        let members = at + 12;
        if kind == STRUCT && count > 0 && called(named, name) {
            let places = (0..count).map(|number| members + 12 * number);
            let mut found = places.filter(|&place| word(place).is_some_and(|n| called(n, member)));
            let bits = word(found.next()? + 8)?;
            // With the kind's flag set, the upper byte is a bit field's width.
            let bits = if info >> 31 == 1 {
                bits & 0x00ff_ffff
            } else {
                bits
            };
            return Some(bits / 8);
        }
        at = members
            + match kind {
                1 | 14 | 17 => 4, // INT, VAR, DECL_TAG
                3 => 12,          // ARRAY
                STRUCT | UNION => 12 * count,
                6 | 13 => 8 * count,   // ENUM, FUNC_PROTO
                15 | 19 => 12 * count, // DATASEC, ENUM64
                _ => 0,
            };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An integer, then `struct sk_buff { int next; int data; }`, 208 bytes apart.
    fn sample() -> Vec<u8> {
        let strings = b"\0int\0sk_buff\0next\0data\0sk_buff_head\0";
        let types: Vec<u32> = vec![
            1,
            1 << 24,
            4,
            32, // int
            23,
            4 << 24 | 1,
            4,
            13,
            1,
            0, // sk_buff_head, whose name begins the same way
            5,
            4 << 24 | 2,
            216,
            13,
            1,
            0,
            18,
            1,
            208 * 8,
        ];
        let length = 4 * types.len() as u32;
        let mut btf = Vec::new();
        for word in [0x0001_eb9f, 24, 0, length, length, strings.len() as u32] {
            btf.extend(word.to_le_bytes());
        }
        btf.extend(types.iter().flat_map(|word| word.to_le_bytes()));
        btf.extend(strings);
        btf
    }

    #[test]
    fn a_field_is_found_where_it_is() {
        assert_eq!(offset(&sample(), "sk_buff", "data"), Some(208));
        assert_eq!(offset(&sample(), "sk_buff", "tail"), None);
        assert_eq!(offset(&sample(), "sk_buf", "data"), None);
    }

    proptest! {
        #[test]
        fn nothing_breaks_the_reader(place in 0usize..180, byte: u8, cut in 0usize..200) {
            let mut btf = sample();
            if let Some(there) = btf.get_mut(place) {
                *there = byte;
            }
            btf.truncate(cut);
            _ = offset(&btf, "sk_buff", "data");
        }
    }
}
