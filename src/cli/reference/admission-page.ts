/** Built-in admission in the order it runs, from the list that the server is given. */
import { ESCALATION } from '../../apiserver/access.ts'
import { admissionOf, ownAdmissionOf } from '../../controllers.ts'
import type { Admission } from '../../kinds/admission.ts'
import { builtinAdmission } from '../../kinds/kubernetes/admission/index.ts'
import { code, type Page, page, table } from './markdown.ts'

const PLACED = { hasProcessNodes: true, isMapped: () => false, resolves: () => false }

const SHAPES = [
  { name: 'hub', admission: admissionOf('hub', false) },
  { name: 'members', admission: admissionOf('member', false, PLACED) },
  { name: 'bare', admission: admissionOf('hub', true) },
]

export function admissionPage(): Page {
  const intro =
    'Every write passes these in this order: all that change it first, then its kind’s own validation, then all that judge it. The first refusal ends the request.'
  const all = [
    ...builtinAdmission({ serviceAccount: true, storageProtection: true }),
    ...ownAdmissionOf('hub'),
    ...ownAdmissionOf('member', PLACED),
  ]
  const rows = [
    ...all.map((one) =>
      described(
        one,
        SHAPES.filter(({ admission }) => admission.some(({ name }) => name === one.name)).map(({ name }) => name),
      ),
    ),
    described(
      ESCALATION,
      SHAPES.map(({ name }) => name),
    ),
  ]
  return page('admission', { title: 'Admission', from: 'src/kinds', intro }, [
    table(
      ['', 'name', 'what it does', 'sees', 'where'],
      rows.map((cells, i) => [String(i + 1), ...cells]),
    ),
  ])
}

type Described = Pick<Admission, 'name' | 'about' | 'resources' | 'operations'>

function described({ name, about = '', resources, operations }: Described, where: readonly string[]): string[] {
  const seen = resources.map(({ group, resource }) => code(group === '' || group === '*' ? resource : `${resource}.${group}`)).join(', ')
  const isEverything = resources.some(({ group }) => group === '*')
  return [
    code(name),
    about,
    `${operations.join(', ')} of ${isEverything ? 'everything' : seen}`,
    where.length === SHAPES.length ? 'everywhere' : where.join(', '),
  ]
}
