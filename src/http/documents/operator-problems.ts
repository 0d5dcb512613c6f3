import { ADMIN, JSON_BODY, type ProblemName, QUERY, SECRET } from './problem-groups.ts'

// The client may be removed in the meantime.
const ONE_PRESET: readonly ProblemName[] = [
  ...SECRET,
  '404 client_not_found',
  '409 client_conflict',
  '409 preset_is_shared',
]

/** The problems of endpoints about presets, jobs, the installation and the audit log. See `ENDPOINT_PROBLEMS`. */
export const OPERATOR_PROBLEMS: Readonly<Record<string, readonly ProblemName[]>> = {
  'PUT /v1/presets/:name': [...ONE_PRESET, ...JSON_BODY, '400 bad_presets'],
  'DELETE /v1/presets/:name': [...ONE_PRESET, '404 preset_not_found'],
  'GET /v1/jobs': [...SECRET, ...QUERY],
  'POST /v1/jobs/:id/retry': [
    ...SECRET,
    '404 file_not_found',
    '404 job_not_found',
    '409 job_not_failed',
    '409 job_outdated',
    '429 too_many_jobs',
    '429 variant_limit',
    '501 not_installed',
    '503 storage_full',
  ],
  'DELETE /v1/jobs/:id': [...SECRET, '404 job_not_found'],
  'GET /v1/clients/usage': [...ADMIN, ...QUERY],
  'GET /v1/audit': [...ADMIN, ...QUERY],
  'GET /v1/system': [...ADMIN, ...QUERY],
}
