// The health check of a container: exit code 0 when GET /healthz returns 200. A worker has it on METRICS_PORT only.
const port = process.argv[2] ?? process.env.PORT ?? 3000

try {
  const { status } = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(4000) })
  if (status !== 200) throw new Error(`GET /healthz returns ${status}`)
} catch (error) {
  console.error(error.cause?.message ?? error.message)
  process.exitCode = 1
}
