/** Ranges come over the wire from other programs of the cache: one that lies outside the file is a mistake of theirs, said as such. */
import type { Range, SourceFile } from './source.ts'

export function assertRange({ path, size }: SourceFile, { start, end }: Range): void {
  const isInFile = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end && end <= size
  if (!isInFile) throw new RangeError(`bytes ${start} to ${end} are not in ${path}, which has ${size}`)
}
