import { readText } from './input.ts';
import { answerTool, failTool } from './tool.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

export type VideoRequest = {
  prompt: string;
  model?: string;
  aspectRatio?: string;
  duration?: string;
  resolution?: string;
};

/** Where videos are made, on the account of an organization. */
export type VideoGenerator = {
  /**
   * Resolves once the video is there, or with a fault in words for the model. A call of the same id is one request,
   * however often it is sent. Throws the signal's reason, and the video is then cancelled.
   */
  generate(
    organizationId: string,
    callId: string,
    request: VideoRequest,
    signal: AbortSignal,
  ): Promise<{ video: Record<string, unknown> } | { fault: string }>;
};

const OPTIONS = {
  model: 'Name of the video model; the first one unless given',
  aspect_ratio: '21:9, 16:9, 4:3, 1:1, 3:4 or 9:16',
  duration: 'Seconds, such as 5s',
  resolution: 'Such as 720p or 1080p',
} as const;

const text = (description: string) => ({ type: 'string', description });

/** The tool of the toolset `video`, which is off unless it is enabled: videos cost credits. */
export function buildGenerateVideoTool(generator: VideoGenerator): Tool {
  return {
    name: 'generate_video',
    toolset: 'video',
    description:
      'Make a short video from a description and wait until it is there, which takes from seconds to minutes. Gives the ' +
      'address of a page with a player, and one of the file that is valid for an hour. Costs credits.',
    parameters: {
      type: 'object',
      properties: {
        prompt: text('What the video shows'),
        ...Object.fromEntries(Object.entries(OPTIONS).map(([name, description]) => [name, text(description)])),
      },
      required: ['prompt'],
    },
    readOnly: false,
    parallelism: () => 'shared',
    run: (input, context) => generateVideo(generator, input, context),
  };
}

function readOption(input: Record<string, unknown>, name: keyof typeof OPTIONS): string | undefined {
  const value = input[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}

async function generateVideo(
  generator: VideoGenerator,
  input: Record<string, unknown>,
  { organizationId, callId, signal }: ToolContext,
): Promise<ToolOutcome> {
  const prompt = readText(input, 'prompt').trim();
  if (prompt === '') return failTool('prompt: must not be empty', { success: false });
  const options = {
    model: readOption(input, 'model'),
    aspectRatio: readOption(input, 'aspect_ratio'),
    duration: readOption(input, 'duration'),
    resolution: readOption(input, 'resolution'),
  };
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const made = await generator.generate(organizationId, callId, { prompt, ...given }, signal);
  return 'fault' in made ? failTool(made.fault, { success: false }) : answerTool({ success: true, ...made.video });
}
