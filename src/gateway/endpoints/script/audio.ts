import { invalid } from '../../gateway-error.ts';
import { readName, readOptionalChoice } from '../../dialects/fields.ts';
import { buildJsonAnswer, countTokens } from '../endpoint.ts';
import type { EndpointFile, EndpointInput, ScriptAnswer } from '../endpoint.ts';

const SAMPLE_RATE = 24_000;
/** Audio for each word of the input, seconds. */
const SECONDS_PER_WORD = 0.3;
const MAX_WORDS = 400;
const MAX_TEXT = 4096;

/** One frame of silence: MPEG 1 layer III, 128 kbit/s, 44.1 kHz, 26 ms. */
function buildMp3Frame(): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0x64]);
  return frame;
}

function buildPcm(seconds: number): Buffer {
  const pcm = Buffer.alloc(Math.round(seconds * SAMPLE_RATE) * 2);
  for (let at = 0; at < pcm.length / 2; at += 1) {
    const fade = 0.5 + 0.5 * Math.sin((at / SAMPLE_RATE) * Math.PI * 6);
    pcm.writeInt16LE(Math.round(Math.sin((at / SAMPLE_RATE) * Math.PI * 2 * 220) * 4000 * fade), at * 2);
  }
  return pcm;
}

function buildWav(pcm: Buffer): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + pcm.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(SAMPLE_RATE, 24);
  head.writeUInt32LE(SAMPLE_RATE * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(pcm.length, 40);
  return Buffer.concat([head, pcm]);
}

export function checkSpeech({ fields }: EndpointInput): void {
  readName(fields['input'], 'input');
}

/** A hum as long as speaking the text would take; silence in MP3. */
export function answerSpeech({ fields }: EndpointInput): ScriptAnswer {
  const text = readName(fields['input'], 'input');
  if (text.length > MAX_TEXT) throw invalid('input', `must have at most ${MAX_TEXT} characters`);
  const formats = ['mp3', 'wav', 'pcm'] as const;
  const format = readOptionalChoice(fields['response_format'], 'response_format', formats) ?? 'mp3';
  const seconds = Math.min(MAX_WORDS, text.trim().split(/\s+/).length) * SECONDS_PER_WORD;
  const usage = { input: countTokens(text), output: Math.ceil(seconds * 20) };
  if (format === 'mp3') {
    const frames = Array.from({ length: Math.ceil(seconds / 0.026) }, buildMp3Frame);
    return { type: 'audio/mpeg', body: Buffer.concat(frames), usage };
  }
  const pcm = buildPcm(seconds);
  return format === 'pcm' ? { type: 'audio/pcm', body: pcm, usage } : { type: 'audio/wav', body: buildWav(pcm), usage };
}

function findAudio({ files }: EndpointInput): EndpointFile {
  const file = files.find(({ field }) => field === 'file');
  if (file === undefined || file.bytes.length === 0) throw invalid('file', 'is required');
  return file;
}

export function checkAudio(input: EndpointInput): void {
  findAudio(input);
}

/** A description of the file; it is not transcribed. */
export function answerTranscript(input: EndpointInput): ScriptAnswer {
  const { name, bytes } = findAudio(input);
  const formats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;
  const format = readOptionalChoice(input.fields['response_format'], 'response_format', formats) ?? 'json';
  if (input.fields['stream'] === 'true') throw invalid('stream', 'script models do not stream transcripts');
  const text = `Audio file ${name.slice(0, 100)} of ${bytes.length} bytes.`;
  const usage = { input: Math.ceil(bytes.length / 4000), output: countTokens(text) };
  const told = {
    type: 'tokens',
    input_tokens: usage.input,
    output_tokens: usage.output,
    total_tokens: usage.input + usage.output,
  };
  switch (format) {
    case 'json':
      return buildJsonAnswer({ text, usage: told }, usage);
    case 'verbose_json': {
      const segment = { id: 0, seek: 0, start: 0, end: 1, text, tokens: [], temperature: 0 };
      const scores = { avg_logprob: 0, compression_ratio: 1, no_speech_prob: 0 };
      const segments = [{ ...segment, ...scores }];
      return buildJsonAnswer(
        { task: 'transcribe', language: 'english', duration: 1, text, segments, usage: told },
        usage,
      );
    }
    case 'srt':
      return { type: 'text/plain; charset=utf-8', body: `1\n00:00:00,000 --> 00:00:01,000\n${text}\n`, usage };
    case 'vtt':
      return { type: 'text/plain; charset=utf-8', body: `WEBVTT\n\n00:00.000 --> 00:01.000\n${text}\n`, usage };
    case 'text':
      return { type: 'text/plain; charset=utf-8', body: `${text}\n`, usage };
  }
}
