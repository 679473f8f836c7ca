//! Rules that another program takes away.

use super::*;

/// What another program does to the rules: the name of our table or chain, and that of the hook's chain.
type Other = fn(&mut Rules, &str, &str);

const OTHERS: [(&str, Other); 8] = [
    ("nft flush ruleset", |rules, _, _| {
        rules.tables.clear();
        rules.mangle.clear();
    }),
    ("our table is deleted", |rules, ours, _| {
        rules.tables.remove(ours);
        rules.mangle.remove("ip");
    }),
    ("one rule is deleted", |rules, ours, _| {
        if let Some(table) = rules.tables.get_mut(ours) {
            table.truncate(table.trim_end().rfind('\n').unwrap());
        }
        chain(rules, "ip6", ours).map(Vec::pop);
    }),
    ("another rule or priority", |rules, ours, _| {
        if let Some(table) = rules.tables.get_mut(ours) {
            *table = table.replace("priority -140", "priority 100");
        }
        if let Some(rules) = chain(rules, "ip", ours) {
            rules.insert(0, "-j ACCEPT".to_owned());
        }
    }),
    ("iptables -t mangle -F", |rules, ours, _| {
        rules.tables.remove(ours);
        for table in rules.mangle.values_mut() {
            table.values_mut().for_each(Vec::clear);
        }
    }),
    ("iptables -t mangle -F, then -X", |rules, ours, hook| {
        rules.tables.remove(ours);
        for table in rules.mangle.values_mut() {
            table.retain(|chain, _| chain == hook);
            table.values_mut().for_each(Vec::clear);
        }
    }),
    ("the way to our chain is deleted", |rules, ours, hook| {
        rules.tables.remove(ours);
        chain(rules, "ip", hook).map(Vec::pop);
    }),
    ("its rules are flushed", |rules, ours, _| {
        rules.tables.remove(ours);
        if let Some(rules) = chain(rules, "ip6", ours) {
            rules.clear();
        }
    }),
];

fn chain<'a>(rules: &'a mut Rules, family: &str, name: &str) -> Option<&'a mut Vec<String>> {
    rules.mangle.get_mut(family)?.get_mut(name)
}

/// A host with these rules, from which packets are diverted.
fn diverting(diversion: &Diversion, queues: bool, before: Rules, store: &Store) -> (Model, Kept) {
    let mut model = Model::new(queues);
    model.rules = before;
    let diverting = Diverting::prepare(&mut model, diversion, false).unwrap();
    diverting.apply(&mut model, store).unwrap();
    let kept = diverting.kept(&mut model).unwrap();
    (model, kept)
}

#[test]
fn what_another_program_takes_away_is_noticed_and_made_again() {
    for (diversion, queues, before) in cases() {
        let purpose = diversion.purpose();
        for (what, other) in OTHERS {
            let folder = Folder::new("kept");
            let store = folder.store();
            let (mut model, mut kept) = diverting(&diversion, queues, before.clone(), &store);
            assert!(kept.stand(&mut model).unwrap(), "{what}");
            // A firewall's own rules are none of ours.
            model.rules.tables.insert("new".to_owned(), String::new());
            assert!(kept.stand(&mut model).unwrap(), "{what}");
            let made = model.rules.clone();
            other(&mut model.rules, purpose.name(), purpose.chain());
            assert!(!kept.stand(&mut model).unwrap(), "{what}");
            kept.make_again(&mut model, &store).unwrap();
            assert!(kept.stand(&mut model).unwrap(), "{what}");
            let ours = |rules: &Rules| {
                let of = |table: &BTreeMap<String, Vec<String>>| table.get(purpose.name()).cloned();
                let chains: Vec<_> = rules.mangle.values().filter_map(of).collect();
                (rules.tables.get(purpose.name()).cloned(), chains)
            };
            assert_eq!(ours(&model.rules), ours(&made), "{what}");
            assert!(restore(&mut model, &store, purpose).unwrap());
            assert!(!model.rules.tables.contains_key(purpose.name()), "{what}");
            let left = |table: &BTreeMap<String, Vec<String>>| table.contains_key(purpose.name());
            assert!(!model.rules.mangle.values().any(left), "{what}");
        }
    }
}

#[test]
fn a_journal_that_went_too_is_written_again() {
    let folder = Folder::new("kept-journal");
    let store = folder.store();
    let (mut model, mut kept) = diverting(&forwarded(), false, Rules::default(), &store);
    std::fs::remove_file(store.file("gateway")).unwrap();
    model.rules.mangle.clear();
    kept.make_again(&mut model, &store).unwrap();
    assert!(restore(&mut model, &store, Purpose::Gateway).unwrap());
    assert_eq!(model.rules.mangle, BTreeMap::new());
}

/// Whatever fails, the next trial puts all back.
#[test]
fn a_failure_is_an_error_and_the_next_trial_may_do_better() {
    for queues in [true, false] {
        for at in 0.. {
            let folder = Folder::new("kept-fails");
            let store = folder.store();
            let (mut model, mut kept) = diverting(&web(), queues, Rules::default(), &store);
            model.rules = Rules::default();
            model.revive();
            model.fault = Some((at, Fault::Fails));
            let result = kept.make_again(&mut model, &store);
            let reached = model.calls > at;
            model.revive();
            if !kept.stand(&mut model).unwrap() {
                assert!(result.is_err(), "{at}");
                kept.make_again(&mut model, &store).unwrap();
                assert!(kept.stand(&mut model).unwrap(), "{at}");
            }
            if !reached {
                break;
            }
        }
    }
}

#[test]
fn the_kernel_tells_of_what_nftables_has() {
    for queues in [true, false] {
        let folder = Folder::new("kept-told");
        let (_, kept) = diverting(&web(), queues, Rules::default(), &folder.store());
        assert!(kept.are_told());
    }
}
