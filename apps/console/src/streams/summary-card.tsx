import { Alert, Group, Text, Title } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { parseTime } from '../kit/parse-time.js';
import { CategoryPicture } from '../kit/category-picture.js';
import { CopyButton } from '../kit/copy-button.js';
import { UserAvatar } from '../kit/user-avatar.js';
import { UserText } from '../kit/user-text.js';
import type { StreamSummary } from './stream-queries.js';
import { printDay, printStreamDuration } from './stream-times.js';
import classes from './summary-card.module.css';
import {
  explainPartial,
  listFacts,
  listTops,
  printName,
  printSummary,
  type SummarizedStream,
  type SummaryFact,
} from './summary-facts.js';

const maxTops = 3;

interface SummaryCardProps {
  stream: SummarizedStream & { channelId: string; categoryId: string };
  summary: StreamSummary;
}

/** A card with the stream's numbers, made for screenshots. */
export function SummaryCard({ stream, summary }: SummaryCardProps) {
  const { main, others } = listFacts(summary);
  const notice = explainPartial(summary);
  return (
    <section aria-label="Summary">
      <article className={classes.card}>
        <header className={classes.head}>
          <UserAvatar id={stream.channelId} name={stream.username} size={48} />
          <div className={classes.names}>
            <Title order={2} size="h4">
              {stream.username}
            </Title>
            <Text size="xs" c="dimmed">
              {printDay(parseTime(summary.started_at).getTime())} ·{' '}
              {printStreamDuration(summary.duration_seconds)}
            </Text>
          </div>
          {stream.categoryId && <CategoryPicture id={stream.categoryId} />}
        </header>
        {(stream.title || stream.category) && (
          <div>
            <Text size="sm" className={classes.title}>
              <UserText text={stream.title} />
            </Text>
            <Text size="xs" c="dimmed">
              <UserText text={stream.category} />
            </Text>
          </div>
        )}
        <Facts facts={main} className={classes.main} />
        {others.length > 0 && <Facts facts={others} className={classes.others} />}
        {listTops(summary).map(({ title, entries }) => (
          <div key={title}>
            <Title order={3} size="xs" c="dimmed" fw={500} mb={2}>
              {title}
            </Title>
            <ol className={classes.tops}>
              {entries.slice(0, maxTops).map(({ name, value }, index) => (
                <li key={index}>
                  <bdi className={classes.name}>{printName(name)}</bdi>
                  <span>{value}</span>
                </li>
              ))}
            </ol>
          </div>
        ))}
        {notice && (
          <Alert
            className={classes.notice}
            variant="outline"
            color="orange"
            icon={<IconInfoCircle aria-hidden />}
          >
            {notice}
          </Alert>
        )}
      </article>
      <Group justify="flex-end" mt="xs">
        <CopyButton text={printSummary(stream, summary)} label="Copy as text" />
      </Group>
    </section>
  );
}

function Facts({ facts, className }: { facts: readonly SummaryFact[]; className: string | undefined }) {
  return (
    <dl className={className}>
      {facts.map(({ title, value, detail }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            {value}
            {detail && <span className={classes.detail}>{detail}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
