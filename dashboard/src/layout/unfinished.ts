const KEY = 'sluice-unfinished-uploads'

/** Notes whether uploads remain, for the next page of this browser. */
export function noteUnfinished(isUnfinished: boolean): void {
  try {
    if (isUnfinished) localStorage.setItem(KEY, '1')
    else localStorage.removeItem(KEY)
  } catch {
    // A full storage must not fail the upload.
  }
}

/** Whether an earlier page has left uploads unfinished. Then the upload panel is shown at once. */
export function hasUnfinished(): boolean {
  return localStorage.getItem(KEY) !== null
}
