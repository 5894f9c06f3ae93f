/** The HttpClient filter around `mend-event-stream.ts` and `mend-request.ts`, for a Responses provider client. */
import { Effect, Option, Schema, Stream } from "effect";
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/unstable/http";

import { initialState, mendResponse, mendText } from "./mend-event-stream.ts";
import { mendRequest } from "./mend-request.ts";

const parseBody = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown));

const mendStream = (response: HttpClientResponse.HttpClientResponse) =>
  response.stream.pipe(
    Stream.decodeText(),
    Stream.mapAccum(
      () => initialState,
      (state, text: string) => {
        const [next, out] = mendText(state, text);
        return [next, out === "" ? [] : [out]] as const;
      },
      { onHalt: ({ rest }) => (rest === "" ? [] : [rest]) },
    ),
    Stream.encodeText,
    Stream.toReadableStreamEffect(),
  );

const mend = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  if (response.status < 200 || response.status >= 300) return response;
  const init = { status: response.status, headers: { ...response.headers } };
  const kind = response.headers["content-type"] ?? "";
  if (kind.includes("text/event-stream")) {
    return HttpClientResponse.fromWeb(
      response.request,
      new Response(yield* mendStream(response), init),
    );
  }
  if (!kind.includes("application/json")) return response;
  const text = yield* response.text;
  const body = Option.match(parseBody(text), {
    onNone: () => text,
    onSome: (parsed) => JSON.stringify(mendResponse(parsed)),
  });
  return HttpClientResponse.fromWeb(response.request, new Response(body, init));
});

const mendSent = (request: HttpClientRequest.HttpClientRequest) => {
  const { body } = request;
  if (body._tag !== "Uint8Array" || !body.contentType.includes("application/json")) return request;
  const text = new TextDecoder().decode(body.body);
  const parsed = text.includes('"reasoning"') ? parseBody(text) : Option.none();
  if (Option.isNone(parsed)) return request;
  const mended = mendRequest(parsed.value);
  return mended === parsed.value ? request : HttpClientRequest.bodyJsonUnsafe(request, mended);
};

/** For `transformClient` of a Responses client. */
export const mendResponses = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  client.pipe(HttpClient.mapRequest(mendSent), HttpClient.transformResponse(Effect.flatMap(mend)));
