import { cardTwin, type Planted } from './planted.ts'

export const appendedReference: Planted = {
  name: 'appended back-reference',
  differs: 'it adds greetings to the list of a card and removes only those it has seen there itself',
  caughtBy: 'same end state',
  foundBy: { seed: 9 },
  cast: cardTwin(() => {
    const seen = new Set<string>()
    return {
      plan(observed, right) {
        for (const { metadata } of observed.greetings) seen.add(metadata.uid ?? '')
        const current = new Set(observed.greetings.map(({ metadata }) => metadata.uid))
        const kept = (observed.card?.status?.usedBy ?? []).filter(({ uid }) => !current.has(uid) && !seen.has(uid))
        const ghosts = kept.map(({ name, uid, generation }) => ({ apiVersion: '', kind: 'Greeting', metadata: { name, uid, generation } }))
        return right({ ...observed, greetings: [...observed.greetings, ...ghosts] })
      },
    }
  }),
}
