//! Namespaces: a socket belongs to the one in which it was made, independent of later changes by
//! the process.

use crate::error::{Failure, Tried};
use crate::plan::Places;
use nix::sched::{CloneFlags, setns};
use std::fs::File;

/// The place where a socket is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// With the servers.
    Net,
    /// On the router.
    Router,
    /// At home.
    Home,
}

/// The three namespaces, and in which of them the process is.
#[derive(Debug)]
pub struct Namespaces {
    net: File,
    router: File,
    home: File,
    here: Option<Place>,
}

impl Namespaces {
    /// Opens the namespaces that `ip netns` made.
    pub fn open(places: &Places) -> Result<Namespaces, Failure> {
        let open = |name: &str| {
            let path = format!("/run/netns/{name}");
            File::open(&path).tried(&path)
        };
        Ok(Namespaces {
            net: open(&places.net)?,
            router: open(&places.router)?,
            home: open(&places.home)?,
            here: None,
        })
    }

    /// Those of a network without a router.
    pub fn of(net: File, home: File) -> Result<Namespaces, Failure> {
        let router = net.try_clone().tried("a namespace")?;
        Ok(Namespaces {
            net,
            router,
            home,
            here: None,
        })
    }

    /// Takes the thread into a namespace.
    pub fn enter(&mut self, place: Place) -> Result<(), Failure> {
        if self.here == Some(place) {
            return Ok(());
        }
        let file = match place {
            Place::Net => &self.net,
            Place::Router => &self.router,
            Place::Home => &self.home,
        };
        setns(file, CloneFlags::CLONE_NEWNET).tried(&format!("entering {place:?}"))?;
        self.here = Some(place);
        Ok(())
    }
}
