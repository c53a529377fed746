/** The kinds of senders, by the name that `sentinel.config` gives them. */
import type { WebhookKind } from '../../config/webhook-config.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import type { Sender } from './sender.ts';
import { slack } from './slack.ts';
import { standard } from './standard.ts';
import { stripe } from './stripe.ts';
import { token } from './token.ts';

export const SENDERS: Readonly<Record<WebhookKind, Sender>> = { github, gitlab, stripe, slack, standard, token };

/** Of a source, on the listener. */
export const sourcePath = (name: string): string => `/hooks/${name}`;

/** Where a body is kept that the data of its event only outline, by its digest. */
export const bodyKey = (digest: string): string => `webhook:${digest}`;
