/** Operating system errors about files, turned into a sentence that says what to do. */
import { CommandError } from './machine.ts'

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'You may not use it. Give yourself the right to (chown, chmod), or choose another place',
  EPERM: 'You may not use it. Give yourself the right to (chown, chmod), or choose another place',
  EROFS: 'It is on a file system that cannot be written. Choose another place',
  ENOENT: 'A folder on the way there does not exist. Make it first (mkdir -p), or choose another place',
  ENOTDIR: 'A part of the path is a file, not a folder. Choose another place',
  EISDIR: 'It is a folder, not a file. Choose another name',
  EEXIST: 'It exists already. Choose another name',
  ENOSPC: 'The disk is full. Make room and try again',
  EDQUOT: 'Your share of the disk is used up. Make room and try again',
  EMFILE: 'Too many files are open. Raise the limit (ulimit -n) and try again',
  ENAMETOOLONG: 'The path is too long. Choose a shorter one',
}

/** A CommandError with advice if the user can fix it; any other error unchanged. */
export function explainSystemError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof CommandError || !('code' in error)) return error
  const code = String(error.code)
  if (!Object.hasOwn(ADVICE, code)) return error
  const path = 'path' in error && typeof error.path === 'string' ? error.path : undefined
  return new CommandError(
    `${path ?? 'a file'} cannot be used (${code}).\n${ADVICE[code]}; --data-dir D names where everything is kept.`,
    error,
  )
}
