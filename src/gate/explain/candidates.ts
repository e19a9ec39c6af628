/**
 * Which sources come near to what a claim asks for, and why each is not the one. Pure. Sources that workloads of another
 * namespace make are left out: whether they exist is the business of that namespace.
 */
import type { DataSource, DataSourceClaim } from '../../kinds/volcano/index.ts'
import { isPreBoundTo, isSeedForm, matches } from '../../kinds/volcano/matching.ts'
import { PRODUCER_NAMESPACE } from '../../kinds/volcano/well-known.ts'
import { compareStrings } from '../../kube/go-print.ts'
import { formatSelectorObject } from '../../kube/selector.ts'

const MOST_SHOWN = 3

/** Nearest first. */
export function nearSources(claim: DataSourceClaim, sources: readonly DataSource[]): string[] {
  const near = sources
    .filter((source) => !isForeign(claim, source))
    .flatMap((source) => {
      const reason = reasonOf(claim, source)
      return reason === undefined ? [] : [{ name: source.metadata.name ?? '', ...reason }]
    })
    .sort((a, b) => a.distance - b.distance || compareStrings(a.name, b.name))
  const shown = near.slice(0, MOST_SHOWN).map(({ name, says }) => `DataSource ${name} ${says}`)
  return near.length > MOST_SHOWN ? [...shown, `and ${near.length - MOST_SHOWN} more that come near`] : shown
}

function isForeign({ metadata: { namespace } }: DataSourceClaim, { metadata: { annotations } }: DataSource): boolean {
  const made = annotations?.[PRODUCER_NAMESPACE]
  return made !== undefined && made !== namespace
}

interface Reason {
  says: string
  /** How far it is from what is asked for. */
  distance: number
}

/** Undefined: it has nothing in common with what is asked for. */
function reasonOf(claim: DataSourceClaim, source: DataSource): Reason | undefined {
  const { system, dataSourceType, dataSourceName } = claim.spec ?? {}
  const { system: ownSystem, type, name } = source.spec ?? {}
  if (matches(claim, source))
    return source.metadata.deletionTimestamp === undefined
      ? { says: 'matches: the claim is bound as soon as somebody looks at it', distance: 0 }
      : { says: 'matches, but is being deleted', distance: 0 }
  const isSameType = system === ownSystem && dataSourceType === type
  const isNamed = isSeedForm(claim) ? isPreBoundTo(claim, source) : dataSourceName === name
  if (!isSameType) return isNamed ? { says: `is of ${ownSystem}/${type}, not of ${system}/${dataSourceType}`, distance: 2 } : undefined
  if (isSeedForm(claim)) return dataSourceName ? undefined : { says: selectorText(claim, source), distance: 1 }
  return isNamed ? { says: attributesText(claim, source), distance: 1 } : { says: `is for ${name}, not for ${dataSourceName}`, distance: 3 }
}

const selectorText = ({ spec }: DataSourceClaim, source: DataSource): string =>
  `has ${pairsText(source.spec?.attributes)}, which does not fulfil ${formatSelectorObject(spec?.attributesSelector)}`

const attributesText = ({ spec }: DataSourceClaim, source: DataSource): string =>
  `has ${pairsText(source.spec?.attributes)}, the claim asks for exactly ${pairsText(spec?.attributes)}`

const MOST_PAIRS = 5

function pairsText(attributes: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(attributes).map(([key, value]) => `${key}=${value}`)
  if (pairs.length === 0) return 'no attributes'
  return pairs.length > MOST_PAIRS ? `${pairs.slice(0, MOST_PAIRS).join(', ')}, …` : pairs.join(', ')
}
