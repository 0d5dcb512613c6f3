/** The bytes of a part of a direct upload. A client repeats this much when a request fails. S3 requires at least 5 MiB, except of the last part. */
export const PART_BYTES = 16 * 1024 ** 2

/**
 * The most URLs of parts in one response. Each has some 600 characters, and a signature takes up to 2 ms: 10,000 of them would be 5 MB, and
 * 20 s of CPU time. Files with more parts have larger ones.
 */
export const PUTS_MAX = 200
