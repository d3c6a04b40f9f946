/** A browser opens at most six connections to a server over HTTP/1.1; one is the organization's stream. */
const SLOTS = 3;

/**
 * Runs `work` while this tab holds one of the streams that the tabs of a browser share. False where all of them are
 * taken. Without locks, which browsers have on https and localhost only, every tab has its own.
 */
export async function withStreamSlot(work: () => Promise<void>): Promise<boolean> {
  const { locks } = navigator as { locks?: LockManager };
  if (locks === undefined) {
    await work();
    return true;
  }
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const hasRun: boolean = await locks.request(`capstan.stream.${slot}`, { ifAvailable: true }, async (lock) => {
      if (lock === null) return false;
      await work();
      return true;
    });
    if (hasRun) return true;
  }
  return false;
}
