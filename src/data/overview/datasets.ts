/** What `sluice get datasets` adds to Fluid's columns: datasets and references stand in one list, so it says which is which. Pure. */
import { Dataset } from '../../kinds/fluid/index.ts'
import { referenceOf } from '../../kinds/fluid/reference.ts'
import type { Overview } from '../../runtime/seams/overview.ts'

export const datasetOverview: Overview = {
  about: 'datasets',
  shows: ({ group, kind }) => group === Dataset.group && kind === Dataset.kind,
  columns: [
    {
      name: 'Refers To',
      priority: 0,
      after: 'Name',
      cell(dataset) {
        const referred = referenceOf(dataset as Dataset)
        if (referred === undefined) return ''
        const { namespace, name, subPath } = referred
        return `${namespace}/${name}${subPath === '' ? '' : `/${subPath}`}`
      },
    },
    {
      name: 'References',
      priority: 1,
      after: 'Phase',
      cell: ({ status }) => String((status as Dataset['status'])?.datasetRef?.length ?? 0),
    },
  ],
}
