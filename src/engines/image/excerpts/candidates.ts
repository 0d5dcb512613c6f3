/** A part of a RAW file that may be a JPEG. */
export interface Candidate {
  /** Position and length in bytes. */
  at: number
  length: number
}

/** What the directories of a RAW file name. */
export interface Findings {
  candidates: Candidate[]
  /**
   * The position of the TIFF whose first directory has the orientation and other facts of the photo. Undefined when only
   * the preview itself has them.
   */
  exifAt?: number
}
