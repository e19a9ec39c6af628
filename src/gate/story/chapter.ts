/** The second chapter of the story that `sluice up` plays: a Job that waits for its data, and follows it. */
import type { Chapter } from '../../runtime/seams/story.ts'
import { EARLY_READER, STORY_NAME } from './manifests.ts'
import { observeGate } from './snapshot.ts'
import { gateStory } from './steps.ts'

const MEMBERS = 2

export const gateChapter: Chapter = {
  name: STORY_NAME,
  title: 'A Job that waits for its data, and follows it',
  // Shorter waits than a production fleet should use.
  flags: { '--cluster-status-period': '1', '--cluster-failure-threshold': '2', '--cluster-success-threshold': '2' },
  hindrance({ members, runsProcesses }) {
    if (members < MEMBERS) return `it needs ${MEMBERS} members, and there ${members === 1 ? 'is' : 'are'} ${members}`
    return runsProcesses ? undefined : 'its pods run for real, and there are no process nodes'
  },
  async open(env) {
    return { steps: gateStory(env), ...(await observeGate(env)) }
  },
  next: () => [
    [`npx sluice why job/${EARLY_READER}`, 'which data it needs, and where that is'],
    ['kubectl get datasources,datasourceclaims', 'supply and demand'],
    ['examples/gate/produce-consume/run', 'the same with kubectl, step by step'],
  ],
}
