/** The life of simulated pods from a user's file. Apart from `up`, which loads it only when there is one. */
import { parse } from 'yaml'
import { parseStages, type Stage } from '../minicluster/nodes/simulated/stages.ts'

/** YAML or JSON; throws with a sentence that says what is wrong. */
export const stagesOf = (text: string): Stage[] => parseStages(parse(text))
