/** Three blocks of the cache. */
export const FILM_BYTES = 12 * 1024 * 1024
