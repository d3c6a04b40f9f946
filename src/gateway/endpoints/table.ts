import { OPENAI_FORMATS } from './endpoint.ts';
import type { Endpoint } from './endpoint.ts';
import { answerSpeech, answerTranscript, checkAudio, checkSpeech } from './script/audio.ts';
import { answerCompletion, checkCompletion } from './script/completions.ts';
import { answerEmbeddings, checkEmbeddings } from './script/embeddings.ts';
import { answerImages, checkImageEdit, checkImages } from './script/images.ts';
import { answerModeration, answerRerank, checkModeration, checkRerank } from './script/ranking.ts';

const formats = OPENAI_FORMATS;

/** Every path of model calls that are not for text, and the old completions. */
export const ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'embeddings',
    path: '/embeddings',
    body: 'json',
    formats,
    check: checkEmbeddings,
    answerScript: answerEmbeddings,
  },
  {
    name: 'image-generation',
    path: '/images/generations',
    body: 'json',
    formats,
    check: checkImages,
    answerScript: answerImages,
  },
  {
    name: 'image-edit',
    path: '/images/edits',
    body: 'form',
    formats,
    check: checkImageEdit,
    answerScript: answerImages,
  },
  { name: 'speech', path: '/audio/speech', body: 'json', formats, check: checkSpeech, answerScript: answerSpeech },
  {
    name: 'transcription',
    path: '/audio/transcriptions',
    body: 'form',
    formats,
    check: checkAudio,
    answerScript: answerTranscript,
  },
  {
    name: 'translation',
    path: '/audio/translations',
    body: 'form',
    formats,
    check: checkAudio,
    answerScript: answerTranscript,
  },
  {
    name: 'moderation',
    path: '/moderations',
    body: 'json',
    formats,
    defaultModel: 'omni-moderation-latest',
    check: checkModeration,
    answerScript: answerModeration,
  },
  { name: 'rerank', path: '/rerank', body: 'json', formats, check: checkRerank, answerScript: answerRerank },
  {
    name: 'completion',
    path: '/completions',
    body: 'json',
    formats,
    check: checkCompletion,
    answerScript: answerCompletion,
  },
];
