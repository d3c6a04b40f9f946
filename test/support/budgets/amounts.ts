/** Workers of each process. */
export const WORKERS = 8;
/** The worst case and the cost of a call, in US dollars. */
export const WORST = 0.2;
export const COST = 0.1;
/** Settled calls after which a process says that it is working. */
export const FEW = 10;
