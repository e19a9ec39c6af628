/** Paths that come from fields: whether they can be used, and what they lie below. Nothing here touches a disk. */
import { quoted } from '../volcano/annotations.ts'

export const LONGEST_PATH = 4096

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Whether a text has characters that no path and no address should have. */
export const hasControlCharacters = (text: string): boolean => CONTROL.test(text)

/** What is wrong with a path, whether absolute or not; undefined: nothing. */
export function pathProblem(path: string): string | undefined {
  if (path.length > LONGEST_PATH) return `${quoted(path)} has more than ${LONGEST_PATH} characters: shorten it`
  if (hasControlCharacters(path)) return `${quoted(path)} contains a control character: remove it`
  if (path.split('/').includes('..')) return `${quoted(path)} contains "..": write the path without it`
  return undefined
}

/** Without empty and `.` segments and without a slash at the end; absolute, if it was. */
export function cleanPath(path: string): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  return path.startsWith('/') ? `/${segments.join('/')}` : segments.join('/')
}

/** Whether an absolute path is the directory or lies below it. */
export function isBelow(path: string, directory: string): boolean {
  const [inner, outer] = [cleanPath(path), cleanPath(directory)]
  return outer === '/' || inner === outer || inner.startsWith(`${outer}/`)
}
