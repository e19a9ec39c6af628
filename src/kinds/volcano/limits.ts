/**
 * How large the parts of sources and claims may be. Generous for people and far from what an object can hold; lengths are
 * characters, as a schema counts them. Whatever `sluice.dev/produces` may name fits into a DataSource.
 */

/** System and type of data; keys of attributes. */
export const LONGEST_WORD = 253
/** What a system calls its data; values of attributes. */
export const LONGEST_NAME = 1024
/** Attributes, demands of a selector and values of a demand, entries of an annotation. */
export const MOST_ENTRIES = 100
/** Clusters that one source names: more than any fleet has. */
export const MOST_CLUSTERS = 5000

/** In characters of Unicode; a text that is short enough in any case is not counted. */
export const isLonger = (text: string, most: number): boolean => text.length > most && (text.length > 2 * most || [...text].length > most)
