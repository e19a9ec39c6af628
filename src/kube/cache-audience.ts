/**
 * For whom the service-account tokens are that clients show to the master of a cache: for that cache alone. A master that is sent
 * a token cannot show it to the master of another cache. Pure.
 */

/** What a CacheRuntimeClass writes where the audience of its cache belongs. */
export const ANY_CACHE_AUDIENCE = 'sluice.dev/cache'

export const cacheAudience = ({ namespace, name }: { namespace: string; name: string }): string =>
  `${ANY_CACHE_AUDIENCE}/${namespace}/${name}`
