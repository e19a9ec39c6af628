/**
 * How a script uses names. A library of which only fields are read (`table.insert(…)`) cannot be changed by the script, so
 * its functions are known when the script is compiled. Counted by name alone, whatever the scope: in doubt, the answer is
 * no.
 */
import type { Node } from 'luaparse'

export class NameUses {
  private readonly all = new Map<string, number>()
  private readonly fieldReads = new Map<string, number>()
  private readonly changed = new Set<string>()

  note(node: Node): void {
    if (node.type === 'Identifier') increment(this.all, node.name)
    else if (node.type === 'MemberExpression' && node.indexer === '.' && node.base.type === 'Identifier') {
      increment(this.fieldReads, node.base.name)
    } else if (node.type === 'AssignmentStatement') for (const target of node.variables) this.noteChanged(target)
    else if (node.type === 'FunctionDeclaration' && node.identifier !== null) this.noteChanged(node.identifier)
  }

  private noteChanged(target: Node): void {
    const changed = target.type === 'MemberExpression' || target.type === 'IndexExpression' ? target.base : target
    if (changed.type === 'Identifier') this.changed.add(changed.name)
  }

  has(name: string): boolean {
    return this.all.has(name)
  }

  /** Whether a name is only used to read its fields, apart from `declarations` of it. */
  isOnlyReadFrom(name: string, declarations: number): boolean {
    return !this.changed.has(name) && (this.all.get(name) ?? 0) === (this.fieldReads.get(name) ?? 0) + declarations
  }
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
