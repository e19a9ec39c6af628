/** The table of sources on our own server: columns of a definition cannot show an affinity in the words of its author. */
import { formatSelectorObject } from '../../kube/selector.ts'
import type { Column, TablePrinter } from '../kind.ts'
import { ageOf, at, count, firstOf, nameOf, selectorOf, text, texts } from '../kubernetes/printers/fields.ts'

const column = (name: string, description: string, more: Partial<Column> = {}): Column => ({ name, type: 'string', description, ...more })

export const dataSourceTable: TablePrinter = {
  columns: [
    column('Name', 'The name of the object.', { format: 'name' }),
    column('SYSTEM', 'The data system.'),
    column('TYPE', 'The category within the system.'),
    column('NAME', 'What the system calls the data.'),
    column('CLUSTERS', 'The clusters that hold the data: their names, or how they are selected.'),
    column('CLAIMS', 'How many claims are bound.', { type: 'integer' }),
    column('AGE', 'How long the object has existed.', { type: 'date' }),
  ],
  row(source, nowMs) {
    const { spec, status } = source
    return {
      cells: [
        nameOf(source),
        text(at(spec, 'system')),
        text(at(spec, 'type')),
        text(at(spec, 'name')),
        localityText(at(spec, 'locality')),
        count(at(status, 'boundClaims')),
        ageOf(source, nowMs),
      ],
    }
  },
}

const NAMES_SHOWN = 3
const LONGEST_CELL = 100

/** `east,west`, or `tier=gold; region in (eu); not test`: all of it must hold. */
function localityText(locality: unknown): string {
  const affinity = at(locality, 'clusterAffinity')
  const parts = [namesText(at(locality, 'clusterNames')), ...(affinity === undefined ? [] : affinityParts(affinity))]
  const whole = parts.filter((part) => part !== '').join('; ')
  if (whole === '') return affinity === undefined ? '<none>' : '<all>'
  return whole.length > LONGEST_CELL ? `${whole.slice(0, LONGEST_CELL)}…` : whole
}

function affinityParts(affinity: unknown): string[] {
  const exclude = namesText(at(affinity, 'exclude'))
  return [
    namesText(at(affinity, 'clusterNames')),
    selectorText(at(affinity, 'labelSelector')),
    selectorText(at(affinity, 'fieldSelector')),
    exclude === '' ? '' : `not ${exclude}`,
  ]
}

const namesText = (names: unknown): string => firstOf(texts(names), NAMES_SHOWN, '')

/** A selector without demands says nothing. */
function selectorText(selector: unknown): string {
  const formatted = formatSelectorObject(selectorOf(selector))
  return formatted === '<none>' ? '' : formatted
}
