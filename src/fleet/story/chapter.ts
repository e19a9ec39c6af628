/** The first chapter of the story that `sluice up` plays: a web server over three regions, and a cluster that fails. */
import type { Chapter } from '../../runtime/seams/story.ts'
import { observeFleet } from './fleet-snapshot.ts'
import { STORY_NAME } from './manifests.ts'
import { fleetStory } from './steps.ts'

const MEMBERS = 3

export const fleetChapter: Chapter = {
  name: STORY_NAME,
  title: 'One web, three regions, and a cluster that fails',
  // Shorter waits than a production fleet should use.
  flags: {
    '--cluster-status-period': '1',
    '--cluster-failure-threshold': '2',
    '--cluster-success-threshold': '2',
    '--eviction-rate': '10',
  },
  hindrance({ members, runsProcesses }) {
    if (members < MEMBERS) return `it needs ${MEMBERS} members, and there ${members === 1 ? 'is' : 'are'} ${members}`
    return runsProcesses ? undefined : 'its pods run for real, and there are no process nodes'
  },
  async open(env) {
    return { steps: fleetStory(env), ...(await observeFleet(env)) }
  },
  next({ dataDir }) {
    const where = dataDir === undefined ? '' : ` --data-dir ${dataDir}`
    return [
      // A command that works in the folder where `npm start` was run, whether or not sluice is installed.
      ['npx sluice why deployment/web', 'why it is where it is'],
      ['npx sluice get pods', 'the pods of all clusters in one table'],
      ['kubectl scale deployment web --replicas=9', 'north is there again: 3 in each region'],
      ['kubectl --context member1 logs deployment/web', 'a real program; exec works, too'],
      [`npx sluice cluster stop member2${where}`, 'your turn; then: kubectl get clusters -w'],
      ['less examples/fleet/README.md', 'policies, overrides, dependencies, failover'],
    ]
  },
}
