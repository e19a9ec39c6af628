/**
 * A mount's options: plain ones, and those in files that a Secret is mounted as. Files are read when first needed and again when
 * they changed, so that a rotated key is used without a restart. Values of files never get into messages.
 */
import { readFile, stat } from 'node:fs/promises'
import { LARGEST_SECRET } from './limits.ts'
import { SourceRefused } from './source.ts'

export interface MountOptions {
  /** The first of the names that is set. */
  get(...names: readonly string[]): Promise<string | undefined>
}

export interface GivenOptions {
  options?: Readonly<Record<string, string>>
  /** Paths of files. */
  encryptOptions?: Readonly<Record<string, string>>
}

interface Kept {
  stamp: string
  value: string
}

export function createMountOptions({ options = {}, encryptOptions = {} }: GivenOptions): MountOptions {
  const files = new Map<string, Kept>()

  async function fromFile(name: string, file: string): Promise<string> {
    try {
      const { size, mtimeNs, ino, dev } = await stat(file, { bigint: true })
      if (size > LARGEST_SECRET) throw new SourceRefused(`the file of option ${name} has more than ${LARGEST_SECRET} bytes`)
      const stamp = [size, mtimeNs, ino, dev].join()
      const known = files.get(name)
      if (known?.stamp === stamp) return known.value
      const value = (await readFile(file, 'utf8')).trim()
      files.set(name, { stamp, value })
      return value
    } catch (error) {
      if (error instanceof SourceRefused) throw error
      const { code } = error as NodeJS.ErrnoException
      throw new SourceRefused(`the file of option ${name} cannot be read (${code}): check the Secret that encryptOptions names`)
    }
  }

  return {
    async get(...names) {
      for (const name of names) {
        const file = Object.hasOwn(encryptOptions, name) ? encryptOptions[name] : undefined
        if (file !== undefined) return fromFile(name, file)
        const plain = Object.hasOwn(options, name) ? options[name] : undefined
        if (plain !== undefined && plain !== '') return plain
      }
      return undefined
    },
  }
}
