/** A volume starts with 512 MiB and is doubled towards 4 GiB. */
export const INITIAL_VOLUME_BYTES = 536_870_912;
export const MAX_VOLUME_BYTES = 4_294_967_296;
