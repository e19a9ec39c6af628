/** What others use of the scheduler. */
export { scheduler } from './controller.ts'
