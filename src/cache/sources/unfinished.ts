/**
 * The directory in which files are written that a migration moves to their places when they are whole. A walk leaves it out: what
 * is in it is no file of anybody yet.
 */
export const UNFINISHED = '.sluice-unfinished'
