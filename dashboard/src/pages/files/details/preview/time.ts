/** `1:02:03`, `2:03`. */
export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return '0:00'
  const whole = Math.floor(seconds)
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const [first = 0, ...rest] = parts[0] === 0 ? parts.slice(1) : parts
  return [first, ...rest.map((part) => String(part).padStart(2, '0'))].join(':')
}
