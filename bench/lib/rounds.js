/** What a run that is reported has at least. `BENCH_ROUNDS` and `BENCH_SECONDS` are for trying things out. */
const fewestRounds = 5

export const rounds = Number(process.env.BENCH_ROUNDS ?? fewestRounds)
export const seconds = Number(process.env.BENCH_SECONDS ?? 3)

export const isTrial = rounds < fewestRounds
