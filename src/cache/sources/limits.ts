/**
 * Bounds on what a source may make us hold, ask or wait for, each with its reason. A source is somebody else's: without these,
 * a listing that never ends or an answer that trickles would take the memory or the time of everybody else's dataset.
 */
const KIB = 1024
const MIB = 1024 * KIB

/** Of one mount. An inventory takes about 400 bytes per file, so that this many are 800 MB of the master. */
export const MOST_FILES = 2_000_000
/** All names of one listing together: as many files of 128 bytes as there may be. */
export const MOST_NAME_BYTES = 256 * MIB
/** PATH_MAX of Linux: a longer path could not be opened by whoever reads the dataset. */
export const LONGEST_PATH_BYTES = 4095
/** NAME_MAX of Linux file systems. */
export const LONGEST_SEGMENT_BYTES = 255
/** Deeper trees are loops (links, servers that answer every path) far more often than data. */
export const DEEPEST_PATH = 64
/** Directories of a file system or of index pages, and pages of S3 (1,000 keys each). */
export const MOST_DIRECTORIES = 200_000
/** Files per page that a source returns: the inventory applies one page at a time, some milliseconds of work. */
export const FILES_PER_PAGE = 1000
/** An index page of 100,000 names is about 10 MB; a page of 1,000 keys of S3 at most about 5. */
export const LARGEST_LISTING_ANSWER = 16 * MIB
/** Links of one index page. */
export const MOST_LINKS = 200_000
/** Names kept of those that were left out; more are only counted. */
export const REFUSED_NAMES_KEPT = 10
/** Credentials and certificates are far smaller. */
export const LARGEST_SECRET = 64 * KIB
/** ETags are hashes; anything longer is not worth keeping for each file. */
export const LONGEST_ETAG = 256

/** Directories of a local source with a watch of their own: inotify allows 8,192 and more per user, shared by all programs. */
export const MOST_WATCHED_DIRECTORIES = 4096
/** Requests that ask for one file each, at a time: enough to hide the round trip, few enough for a small server. */
export const CONCURRENT_STATS = 8
/** Bytes per read of a local file. */
export const LOCAL_CHUNK = 256 * KIB
/** A server that ignores ranges is read from the start of the file: up to here that is slow, beyond it is refused. */
export const MOST_SKIPPED = 256 * MIB

export const LARGEST_HEADERS = 16 * KIB
export const MOST_REDIRECTS = 3

/** Times in milliseconds. */
export interface WebTimes {
  /** From asking for a connection until the head of the answer has come. */
  answerMs: number
  /** Without a byte. */
  idleMs: number
  /** Spent on waiting for bytes of one answer, all in all. */
  totalMs: number
  /** After this much waiting, the average since the first byte must reach `leastBytesPerSecond`. */
  graceMs: number
  leastBytesPerSecond: number
}

/** A block of 64 MiB at the least speed takes 17 minutes; listings are smaller. */
export const WEB_TIMES: WebTimes = { answerMs: 30_000, idleMs: 30_000, totalMs: 1_200_000, graceMs: 20_000, leastBytesPerSecond: 64 * KIB }
