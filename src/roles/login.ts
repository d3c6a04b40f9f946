import { readFileSync } from 'node:fs';
import type { Registry } from 'prom-client';
import { StartupError, errorText } from '../platform/errors.ts';
import { openRegistry } from '../platform/http/metrics.ts';
import { buildWebsiteAccounts } from '../login/accounts.ts';
import { findChromium } from '../login/browser/chromium.ts';
import { openFleet } from '../login/browser/fleet.ts';
import type { LoginPorts } from '../login/deps.ts';
import { buildFormReader } from '../login/form-reader.ts';
import type { ReadForm } from '../login/form-reader.ts';
import { openLoginMetrics } from '../login/metrics.ts';
import type { LoginMetrics } from '../login/metrics.ts';
import { buildLogin } from '../login/server.ts';
import type { SharedBackends } from './backends/shared.ts';
import { readCallDrainMs, readServerOptions, serve } from './role.ts';
import type { RoleContext, Started } from './role.ts';

type Options = {
  registry: Registry;
  /** a browser stands ready before the first login */
  warm: boolean;
};

const opened = new WeakMap<RoleContext<SharedBackends>, Promise<LoginPorts>>();

/** What signs in, once a process: agents and callers share its browsers, and are counted together. */
export function openLoginPorts(context: RoleContext<SharedBackends>, options: Options): Promise<LoginPorts> {
  const ports = opened.get(context) ?? open(context, options);
  opened.set(context, ports);
  return ports;
}

async function open(context: RoleContext<SharedBackends>, { registry, warm }: Options): Promise<LoginPorts> {
  const { config, backends, lifecycle, log } = context;
  const { chromium, searchPath, methods, concurrency } = config.login;
  const program = findChromium(chromium, searchPath);
  if (program === undefined) log.warn('no Chromium found: every website login will answer 503; set CAPSTAN_CHROMIUM');
  // Chromium cannot make its sandbox as root.
  const noSandbox = process.getuid?.() === 0;
  const fleet = lifecycle.use(
    'browsers',
    openFleet({ ...backends, log }, { program, noSandbox, maxJobs: concurrency, warm }),
  );
  const loginMetrics = openLoginMetrics(registry, fleet);
  const readForm = await openReader(context, loginMetrics);
  const mailDomain = config.login.smtp?.domain;
  return { ...backends, log, registry, fleet, methods, loginMetrics, readForm, mailDomain };
}

/** Without a configured model, the code that calls models is not loaded. */
async function openReader(
  context: RoleContext<SharedBackends>,
  { countModelCall }: LoginMetrics,
): Promise<ReadForm | undefined> {
  const { fallbackModel: model } = context.config.login;
  if (model === undefined) return undefined;
  const { openModels } = await import('./models.ts');
  return buildFormReader({ inference: await openModels(context), model, log: context.log, count: countModelCall });
}

/** Signs in for agents; no browser runs before the first login. */
export async function openWebsiteAccounts(context: RoleContext<SharedBackends>, registry: Registry) {
  return buildWebsiteAccounts(await openLoginPorts(context, { registry, warm: false }));
}

/** Receives emails to mailboxes, if `login.smtp` says where. */
export async function receiveMail(context: RoleContext<SharedBackends>, ports: LoginPorts): Promise<void> {
  const { smtp } = context.config.login;
  if (smtp === undefined) return;
  const { openMailListener } = await import('../login/mailbox/smtp.ts');
  const { certFile, keyFile, ...options } = smtp;
  const isSecured = certFile !== undefined && keyFile !== undefined;
  const tls = isSecured && { tls: { cert: readPem('certFile', certFile), key: readPem('keyFile', keyFile) } };
  const listener = await openMailListener(ports, { ...options, ...tls });
  context.lifecycle.use('inbound mail', listener);
  context.log.info({ host: smtp.host, port: listener.port, domain: smtp.domain }, 'receiving mail');
}

function readPem(name: 'certFile' | 'keyFile', path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new StartupError(`login.smtp.${name}: ${errorText(error)}`);
  }
}

export async function startLogin(context: RoleContext<SharedBackends>): Promise<Started> {
  const shared = await openLoginPorts(context, { registry: openRegistry(), warm: true });
  const ports = { ...shared, drainMs: readCallDrainMs(context) };
  await receiveMail(context, ports);
  const started = await serve(context, 'login', buildLogin(ports, readServerOptions(context)));
  // The code that drives browsers is large. It is loaded once the role listens.
  ports.fleet.keepWarm();
  return started;
}
