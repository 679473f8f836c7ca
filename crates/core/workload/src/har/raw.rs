//! The fields of a HAR file that are read, in their raw form: any may be missing or of another
//! type.

use super::node::{HarNode, Leaf, List};
use crate::page::MAX_REQUESTS;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Root<'a> {
    #[serde(borrow)]
    pub log: HarNode<Log<'a>>,
}

/// Pages and entries are parsed one by one: an error in one does not affect the others.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Log<'a> {
    pub creator: HarNode<RawCreator>,
    #[serde(borrow)]
    pub pages: List<&'a RawValue, MAX_REQUESTS>,
    #[serde(borrow)]
    pub entries: List<&'a RawValue, MAX_REQUESTS>,
}

/// The program that wrote the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawCreator {
    pub name: Leaf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawPage {
    pub id: Leaf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawEntry {
    pub pageref: Leaf,
    pub started_date_time: Leaf,
    pub time: Leaf,
    pub request: HarNode<RawRequest>,
    pub response: HarNode<RawResponse>,
    pub timings: HarNode<RawTimings>,
    #[serde(rename = "_initiator")]
    pub initiator: HarNode<RawInitiator>,
    #[serde(rename = "_protocol")]
    pub protocol: Leaf,
    #[serde(rename = "_bytesIn")]
    pub bytes_in: Leaf,
    #[serde(rename = "_bytesOut")]
    pub bytes_out: Leaf,
    #[serde(rename = "_fromCache")]
    pub from_cache: Leaf,
    #[serde(rename = "_fetchType")]
    pub fetch_type: Leaf,
    #[serde(rename = "serverIPAddress")]
    pub address: Leaf,
    pub connection: Leaf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawRequest {
    pub method: Leaf,
    pub url: Leaf,
    pub http_version: Leaf,
    pub headers_size: Leaf,
    pub body_size: Leaf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawResponse {
    pub status: Leaf,
    pub http_version: Leaf,
    pub headers_size: Leaf,
    pub body_size: Leaf,
    #[serde(rename = "redirectURL")]
    pub redirect_url: Leaf,
    pub content: HarNode<RawContent>,
    #[serde(rename = "_transferSize")]
    pub transfer_size: Leaf,
    #[serde(rename = "_fetchedViaServiceWorker")]
    pub via_service_worker: Leaf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawContent {
    pub size: Leaf,
    pub compression: Leaf,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawTimings {
    pub blocked: Leaf,
    pub dns: Leaf,
    pub connect: Leaf,
    pub ssl: Leaf,
    pub send: Leaf,
    pub wait: Leaf,
    pub receive: Leaf,
}

/// Chrome's initiator; others write the URL alone.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawInitiator {
    pub url: Leaf,
    pub stack: HarNode<RawStack>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RawStack {
    pub call_frames: List<HarNode<RawFrame>, 100_000>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RawFrame {
    pub url: Leaf,
}
