import { readdirSync, readFileSync } from 'node:fs';
import { basename, join, posix, relative } from 'node:path';
import { parse } from 'smol-toml';

/** A file of a task, with its path in the place that it is copied to. */
export type TaskFile = { path: string; content: Buffer };

/** A task in Harbor's format, as far as it runs without an image of its own. */
export type Task = {
  name: string;
  instruction: string;
  /** the working directory that its texts mention, such as /app */
  workdir: string;
  /** what its Dockerfile copies into the working directory */
  files: TaskFile[];
  /** `solve.sh` and what belongs to it */
  solution: TaskFile[];
  /** `test.sh` and what belongs to it */
  tests: TaskFile[];
  /** seconds */
  agentTimeout: number;
  verifierTimeout: number;
  /** why it needs an image of its own: what its Dockerfile does beyond copying files */
  needsImage: string | undefined;
};

const DEFAULT_TIMEOUT = 600;
/** Steps of a Dockerfile that need no image: they say where files go, or nothing that a task sees. */
const PLAIN_STEPS = ['FROM', 'WORKDIR', 'COPY', 'CMD', 'LABEL'];

function listFiles(folder: string): TaskFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => ({ path: relative(folder, path), content: readFileSync(path) }));
}

function readSteps(dockerfile: string): { step: string; words: string[] }[] {
  const lines = dockerfile.replaceAll('\\\n', ' ').split('\n');
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [step = '', ...words] = line.split(/\s+/);
      return { step: step.toUpperCase(), words };
    });
}

/** The files of one COPY, with their paths in the image. */
function copyFiles(words: readonly string[], workdir: string, context: readonly TaskFile[]): TaskFile[] {
  const target = words.at(-1) ?? '.';
  const sources = words.slice(0, -1).map((source) => posix.normalize(source).replace(/\/$/, ''));
  const intoFolder = target.endsWith('/') || target.endsWith('.') || sources.length > 1;
  return sources.flatMap((source) =>
    context.flatMap(({ path, content }) => {
      if (path === source) {
        const place = intoFolder ? posix.join(target, basename(path)) : target;
        return [{ path: posix.resolve(workdir, place), content }];
      }
      if (source !== '.' && !path.startsWith(`${source}/`)) return [];
      const inner = source === '.' ? path : path.slice(source.length + 1);
      return [{ path: posix.resolve(workdir, target, inner), content }];
    }),
  );
}

function readTimeout(config: Record<string, unknown>, section: string): number {
  const { timeout_sec: seconds } = (config[section] ?? {}) as { timeout_sec?: unknown };
  return typeof seconds === 'number' ? seconds : DEFAULT_TIMEOUT;
}

/** Reads the folder of a task. Throws if one of its files is missing. */
export function readTask(folder: string): Task {
  const config = parse(readFileSync(join(folder, 'task.toml'), 'utf8'));
  const steps = readSteps(readFileSync(join(folder, 'environment/Dockerfile'), 'utf8'));
  const workdir = steps.findLast(({ step }) => step === 'WORKDIR')?.words[0] ?? '/app';
  const context = listFiles(join(folder, 'environment'));
  const copied = steps.filter(({ step }) => step === 'COPY').flatMap(({ words }) => copyFiles(words, workdir, context));
  const outside = copied.find(({ path }) => !path.startsWith(`${workdir}/`));
  const unknown = steps.find(({ step, words }) => !PLAIN_STEPS.includes(step) || words[0]?.startsWith('--') === true);
  return {
    name: basename(folder),
    instruction: readFileSync(join(folder, 'instruction.md'), 'utf8').trim(),
    workdir,
    files: copied.map(({ path, content }) => ({ path: relative(workdir, path), content })),
    solution: listFiles(join(folder, 'solution')),
    tests: listFiles(join(folder, 'tests')),
    agentTimeout: readTimeout(config, 'agent'),
    verifierTimeout: readTimeout(config, 'verifier'),
    needsImage:
      unknown === undefined
        ? outside && `copies ${outside.path}, outside ${workdir}`
        : `${unknown.step} ${unknown.words[0] ?? ''}`.trim(),
  };
}

/** The tasks below a folder, by name. */
export function readTasks(folder: string): Task[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => readTask(join(folder, entry.name)))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}
