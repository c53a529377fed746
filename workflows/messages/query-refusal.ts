/**
 * Why a run does not answer a query. Whoever asked is told the message of the failure alone, and nothing that is
 * sealed in it, so this message goes to Temporal in clear and says nothing of the run.
 */
import { ApplicationFailure } from '@temporalio/common';

export class QueryRefusal extends ApplicationFailure {}
