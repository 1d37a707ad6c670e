import { Alert, Autocomplete, Button, Group, JsonInput, Stack, Tabs, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconDice5, IconHistory, IconSend } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { eventTypesQuery } from '../api/queries.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { LoadingRows } from '../kit/loading.js';
import { Page } from '../kit/page.js';
import { QueryView } from '../kit/query-view.js';
import { surprise, type EventData } from './surprise.js';

const route = getRouteApi('/signed-in/test-event');
const defaultType = 'channel-raid';

// The form library is as large as the rest of the page, which is usable without it. Load it lazily.
const SchemaForm = lazy(() => import('./schema-form.js'));

/** Sends a test event to all live clients. They receive it like a platform event. */
export function TestEventPage() {
  const { type = defaultType, from } = route.useSearch();
  const navigate = route.useNavigate();
  const { data: types = [] } = useQuery(eventTypesQuery);
  const names = [...new Set(types.map(({ event_type }) => event_type))].sort();
  const choose = (chosen: string): void => {
    const name = chosen.trim();
    if (name !== '' && name !== type) void navigate({ search: { type: name } });
  };
  return (
    <Page
      title="Send test event"
      description="Bots and overlays receive a test event like a real event. The service stores it, marks it as a test, and changes no streamer’s state."
    >
      <Stack maw={760}>
        <TypeField key={type} type={type} names={names} onChoose={choose} />
        <TestEvent key={`${type} ${from}`} type={type} from={from} />
      </Stack>
    </Page>
  );
}

interface TypeFieldProps {
  type: string;
  names: string[];
  onChoose: (type: string) => void;
}

/** Accepts any text, because clients can use their own event types. */
function TypeField({ type, names, onChoose }: TypeFieldProps) {
  const [text, setText] = useState(type);
  return (
    <Autocomplete
      label="Event type"
      value={text}
      onChange={setText}
      data={text === type ? names : names.filter((name) => name.includes(text.trim()))}
      filter={({ options }) => options}
      limit={100}
      maxDropdownHeight={280}
      onOptionSubmit={onChoose}
      onBlur={() => onChoose(text)}
      onKeyDown={({ key }) => {
        if (key === 'Enter') onChoose(text);
      }}
    />
  );
}

/** Returns the details of an event type; null if the platform does not have it. */
async function readDetails(type: string) {
  try {
    const request = { params: { path: { type } } };
    return await call(api().GET('/api/v1/platform/event-types/{type}', request));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

async function readEventData(id: string): Promise<EventData> {
  const { event_data } = await call(api().GET('/api/v1/platform-events/{id}', { params: { path: { id } } }));
  return event_data;
}

function TestEvent({ type, from }: { type: string; from: string | undefined }) {
  const query = useQuery({
    queryKey: ['platform', 'event-types', type, from],
    queryFn: async () => {
      const [details, data] = await Promise.all([readDetails(type), from ? readEventData(from) : undefined]);
      return { details, data: data ?? details?.example ?? {} };
    },
    staleTime: Infinity,
  });
  return (
    <QueryView query={query}>
      {({ details, data }) => (
        <Editor type={type} schema={details?.schema} description={details?.description} initial={data} />
      )}
    </QueryView>
  );
}

interface EditorProps {
  type: string;
  schema: Record<string, unknown> | undefined;
  description: string | undefined;
  initial: EventData;
}

function Editor({ type, schema, description, initial }: EditorProps) {
  const [data, setData] = useState(initial);
  // What the user has typed in the JSON tab. Printing the data again after each key would undo "1." on the way to "1.05".
  const [text, setText] = useState<string>();
  const isInvalid = text !== undefined && !parseObject(text);
  const navigate = route.useNavigate();
  const change = (changed: EventData): void => {
    setData(changed);
    setText(undefined);
  };
  const useLast = useMutation({
    mutationFn: () => readLastData(type),
    onSuccess: (last) => {
      if (last) change(last);
      else
        notifications.show({
          title: 'There is no such event yet',
          message: `No platform event of the type ${type} is stored.`,
        });
    },
  });
  const send = useMutation({
    mutationFn: () =>
      call(
        api().POST('/api/v1/platform-events/{event_type}/test', {
          params: { path: { event_type: type } },
          body: data,
        }),
      ),
    onSuccess: ({ event_id }) => {
      notifications.show({ title: 'Sent', message: `The test event of the type ${type} is in the feed.` });
      void navigate({ to: '/events', search: event_id ? { event: event_id } : {} });
    },
  });
  return (
    <>
      {description && (
        <Text size="sm" c="dimmed">
          {description}
        </Text>
      )}
      {!schema && (
        <Alert variant="outline" color="gray">
          The platform does not have this type, so there is no form. Write the data as JSON.
        </Alert>
      )}
      <Group gap="xs">
        <Button
          size="xs"
          variant="default"
          leftSection={<IconDice5 size={14} />}
          onClick={() => change(surprise(data))}
        >
          Surprise me
        </Button>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconHistory size={14} />}
          loading={useLast.isPending}
          onClick={() => useLast.mutate()}
        >
          Use the last real event
        </Button>
        <Button
          size="xs"
          ml="auto"
          leftSection={<IconSend size={14} />}
          disabled={isInvalid}
          loading={send.isPending}
          onClick={() => send.mutate()}
        >
          Send
        </Button>
      </Group>
      {(send.error ?? useLast.error) && <FaultNotice error={send.error ?? useLast.error} />}
      <Tabs defaultValue={schema ? 'form' : 'json'}>
        <Tabs.List>
          {schema && (
            <Tabs.Tab value="form" disabled={isInvalid}>
              Form
            </Tabs.Tab>
          )}
          <Tabs.Tab value="json">JSON</Tabs.Tab>
        </Tabs.List>
        {schema && (
          <Tabs.Panel value="form" pt="md">
            <Suspense fallback={<LoadingRows />}>
              <SchemaForm schema={schema} data={data} onChange={change} />
            </Suspense>
          </Tabs.Panel>
        )}
        <Tabs.Panel value="json" pt="md">
          <JsonInput
            aria-label="Data of the event"
            autosize
            minRows={12}
            maxRows={32}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            value={text ?? JSON.stringify(data, null, 2)}
            onChange={(typed) => {
              const parsed = parseObject(typed);
              if (parsed) setData(parsed);
              setText(typed);
            }}
            error={isInvalid && 'This is not a JSON object yet.'}
          />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

/** Returns the data of the newest platform event of this type, if any. */
async function readLastData(type: string): Promise<EventData | undefined> {
  const query = { event_type: type, origin: 'platform', page_size: 1 };
  const { results } = await call(api().GET('/api/v1/platform-events', { params: { query } }));
  return results[0]?.event_data;
}

function parseObject(text: string): EventData | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isData = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isData ? (value as EventData) : undefined; // Safe cast: just checked.
  } catch {
    return undefined;
  }
}
