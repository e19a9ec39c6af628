/** The chapter about datasets: one fills a cache, pods of two namespaces read it, a worker is killed, one leaves, and nobody notices. */
import type { Chapter } from '../../runtime/seams/story.ts'
import { DATASET, STORY_NAME } from './manifests.ts'
import { observeData } from './snapshot.ts'
import { dataStory } from './steps.ts'

export const dataChapter: Chapter = {
  name: STORY_NAME,
  title: 'A dataset that a cache holds, and readers that miss nothing',
  hindrance({ members, runsProcesses }) {
    if (members === 0) return 'it needs a member, and there is none'
    return runsProcesses ? undefined : 'its pods run for real, and there are no process nodes'
  },
  async open(env) {
    return { steps: dataStory(env), ...(await observeData(env)) }
  },
  next: () => [
    ['kubectl --context member1 get dataset -A', 'how large it is, how much is cached, and who shares it'],
    [`npx sluice why dataset/${DATASET} --context member1`, 'who serves it, who reads it'],
  ],
}
