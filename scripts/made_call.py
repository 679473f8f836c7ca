"""What the pages of calls have in common that no camera serves: a moving picture and a tone, shown at the other end, and for how
long pictures have come. A page puts SCRIPT before its own."""

SCRIPT = """
/* When the first picture was decoded, by performance.now(); whether pictures are drawn. */
let first = null, draws = true;
const canvas = document.createElement("canvas");
[canvas.width, canvas.height] = [640, 360];
const context = canvas.getContext("2d");
let drawn = 0;
setInterval(() => {
    if (!draws) return;
    drawn += 1;
    for (let n = 0; n < 20; n += 1) {
        context.fillStyle = `hsl(${(drawn * 7 + n * 31) % 360} 80% 50%)`;
        context.fillRect((n * 97 + drawn * 11) % 640, (n * 53 + drawn * 7) % 360, 90, 60);
    }
}, 40);
/* A stream of pictures and a tone. */
const made = () => {
    const stream = canvas.captureStream(25);
    const audio = new AudioContext();
    const tone = audio.createOscillator();
    const sound = audio.createMediaStreamDestination();
    tone.connect(sound);
    tone.start();
    stream.addTrack(sound.stream.getAudioTracks()[0]);
    return stream;
};
/* An end of a call that sends the stream, and shows what comes. */
const end = stream => {
    const peer = new RTCPeerConnection();
    peer.ontrack = event => {
        const video = document.createElement("video");
        video.muted = true;
        video.srcObject = new MediaStream([event.track]);
        video.play();
    };
    stream.getTracks().forEach(track => peer.addTrack(track, stream));
    return peer;
};
/* Looks when the first picture comes to an end. */
const watch = peer => setInterval(async () => {
    for (const report of (await peer.getStats()).values())
        if (report.type === "inbound-rtp" && report.framesDecoded > 0) first ??= performance.now();
}, 100);
/* Seconds of pictures until now. */
const lasted = () => first === null ? 0 : (performance.now() - first) / 1000;
"""
