/**
 * The repository of our own image, for pods that run a part of Sluice. On a process node it needs no pull: with any tag it is
 * the program that runs there.
 */
export const OWN_IMAGE = 'sluice.dev/sluice'

/** The tag of the image that belongs to this program; a test compares it with package.json. */
export const OWN_VERSION = '0.1.0'
