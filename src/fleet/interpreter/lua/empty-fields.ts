/** Where objects have empty structs and empty lists, by path without indexes: what an empty Lua table may have been. */

/** The fields that lead to a place, from the inside out. */
export interface Path {
  parent: Path | undefined
  key: string
}

export interface Empties {
  structs: ReadonlySet<string>
  lists: ReadonlySet<string>
}

export function pathText(path: Path | undefined): string {
  let text = ''
  for (let at = path; at !== undefined; at = at.parent) text = `${at.key.length}:${at.key}/${text}`
  return text
}

export function emptiesOf(references: readonly unknown[]): Empties {
  const structs = new Set<string>()
  const lists = new Set<string>()
  const visit = (value: unknown, path: Path | undefined): void => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      if (value.length === 0) lists.add(pathText(path))
      for (const item of value) visit(item, path)
      return
    }
    const keys = Object.keys(value)
    if (keys.length === 0) structs.add(pathText(path))
    for (const key of keys) visit((value as Readonly<Record<string, unknown>>)[key], { parent: path, key })
  }
  for (const reference of references) visit(reference, undefined)
  return { structs, lists }
}
