// The call as one hears it: a humming voice, which is silent where the call's sound is lost or late.

/** The notes of the voice, in Hz, and how long each is in seconds. */
const NOTES = [220, 247, 262, 330, 294, 262, 247, 196];
const NOTE_S = 0.4;

/** A voice that follows a playhead. */
export class Voice {
  start() {
    this.context ??= new AudioContext();
    this.context.resume();
    if (this.gain) return;
    this.oscillator = new OscillatorNode(this.context, { type: "sawtooth", frequency: NOTES[0] });
    const vowel = new BiquadFilterNode(this.context, { type: "bandpass", frequency: 700, Q: 2 });
    this.gain = new GainNode(this.context, { gain: 0 });
    this.oscillator.connect(vowel).connect(this.gain).connect(this.context.destination);
    this.oscillator.start();
  }

  /** What is heard at `at` ms: nothing, if it is `silent`. */
  play(at, silent) {
    if (!this.gain) return;
    const now = this.context.currentTime;
    const note = NOTES[Math.floor(at / 1e3 / NOTE_S) % NOTES.length];
    this.oscillator.frequency.setTargetAtTime(note, now, 0.02);
    this.gain.gain.setTargetAtTime(silent ? 0 : 0.25, now, 0.004);
  }

  stop() {
    this.gain?.gain.setTargetAtTime(0, this.context.currentTime, 0.02);
  }
}
