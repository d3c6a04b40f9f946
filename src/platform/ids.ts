import { typeidUnboxed } from 'typeid-js';

/** Prefixes of the identifiers that callers see, and of those that stay inside (`trd_`, `cal_`, `att_`, `job_`). */
export type IdPrefix =
  | 'agt'
  | 'ver'
  | 'ses'
  | 'evt'
  | 'trn'
  | 'vlt'
  | 'crd'
  | 'aut'
  | 'key'
  | 'org'
  | 'usr'
  | 'sgn'
  | 'adt'
  | 'gen'
  | 'chr'
  | 'tpl'
  | 'ast'
  | 'att'
  | 'chl'
  | 'job'
  | 'lgn'
  | 'req'
  | 'trd'
  | 'cal'
  | 'whk'
  | 'bud'
  | 'msg'
  | 'mbx'
  | 'wrk'
  | 'upl'
  | 'prv';

/** `prefix_` and 26 Crockford base-32 characters of a UUIDv7: sorts by time of creation. */
export function newId(prefix: IdPrefix): string {
  return typeidUnboxed(prefix);
}
