import { greetingTwin, type Planted } from './planted.ts'

export const lateEffect: Planted = {
  name: 'late effect',
  differs: 'the board is not told of which generation a text is, so an old one that arrives late stays',
  caughtBy: 'at rest',
  foundBy: { seed: 1 },
  cast: greetingTwin(
    () => ({}),
    (board) => ({ put: (notice) => board.put({ ...notice, generation: 0 }), takeDown: (id) => board.takeDown(id) }),
  ),
}
