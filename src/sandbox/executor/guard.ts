import type { SandboxSession, VolumeFiles } from '../sandbox.ts';

/** Runs one method of a sandbox and records its start, end and failure. */
export type CallGuard = <T>(work: () => Promise<T>) => Promise<T>;

/** The same session, each method run by `guard`. */
export function guardSession(session: SandboxSession, guard: CallGuard): SandboxSession {
  return {
    workspace: session.workspace,
    run: (request, signal) => guard(() => session.run(request, signal)),
    hasCall: (callId) => guard(() => session.hasCall(callId)),
    runScript: (request, signal) => guard(() => session.runScript(request, signal)),
    stat: (path) => guard(() => session.stat(path)),
    readFile: (path, range) => guard(() => session.readFile(path, range)),
    openFile: (path) => guard(() => session.openFile(path)),
    writeFile: (path, bytes, options) => guard(() => session.writeFile(path, bytes, options)),
    removeFile: (path, options) => guard(() => session.removeFile(path, options)),
    moveFile: (from, to, options) => guard(() => session.moveFile(from, to, options)),
    copyFile: (from, to, options) => guard(() => session.copyFile(from, to, options)),
    makeDirectory: (path) => guard(() => session.makeDirectory(path)),
    listDirectory: (path) => guard(() => session.listDirectory(path)),
    search: (request, signal) => guard(() => session.search(request, signal)),
    startProcess: (request) => guard(() => session.startProcess(request)),
    listProcesses: () => guard(() => session.listProcesses()),
    processOutput: (id) => guard(() => session.processOutput(id)),
    waitProcess: (id, timeoutMs, signal) => guard(() => session.waitProcess(id, timeoutMs, signal)),
    killProcess: (id) => guard(() => session.killProcess(id)),
    writeProcess: (id, data) => guard(() => session.writeProcess(id, data)),
    closeProcessInput: (id) => guard(() => session.closeProcessInput(id)),
  };
}

/** The same files, each method run by `guard`. */
export function guardVolumeFiles(files: VolumeFiles, guard: CallGuard): VolumeFiles {
  return {
    stat: (path) => guard(() => files.stat(path)),
    describe: (path) => guard(() => files.describe(path)),
    list: (path, page) => guard(() => files.list(path, page)),
    open: (path, options) => guard(() => files.open(path, options)),
    openDescribed: (path, options) => guard(() => files.openDescribed(path, options)),
    write: (path, source, options) => guard(() => files.write(path, source, options)),
    makeDirectory: (path, options) => guard(() => files.makeDirectory(path, options)),
    move: (from, to, options) => guard(() => files.move(from, to, options)),
    copy: (from, to, options) => guard(() => files.copy(from, to, options)),
    remove: (path, options) => guard(() => files.remove(path, options)),
    find: (path, query, limit, signal) => guard(() => files.find(path, query, limit, signal)),
  };
}
