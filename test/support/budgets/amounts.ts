/** Workers of each process. */
export const WORKERS = 8;
/** The worst case and the cost of a call, in US dollars. */
export const WORST = 0.2;
export const COST = 0.1;
/** Settled calls after which a process says that it is working. */
export const FEW = 10;
/** The same where calls take from leases. */
export const LEASED_WORST = 0.002;
export const LEASED_COST = 0.001;
export const FEW_LEASED = 100;
/** A process that is to be killed waits for it after so many. */
export const MOST_LEASED = 300;
