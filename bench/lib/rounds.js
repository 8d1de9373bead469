/** Minimum number of rounds of a reported run. Set `BENCH_ROUNDS` and `BENCH_SECONDS` to smaller values for a trial. */
const minRounds = 5

export const rounds = Number(process.env.BENCH_ROUNDS ?? minRounds)
export const seconds = Number(process.env.BENCH_SECONDS ?? 3)

export const isTrial = rounds < minRounds
