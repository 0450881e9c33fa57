"""An agent with a memory: what somebody types, a line a turn, goes to a model and is answered."""

import sys

from openai import OpenAI

from gitmem import MemorySession

history = []
with OpenAI() as client, MemorySession() as memory:
    system = {"role": "system", "content": "You are a coding agent.\n" + memory.index_block()}
    for text in sys.stdin:
        history.append({"role": "user", "content": text.strip()})
        memory.begin_turn(text)
        request = memory.before_model([system, *history])
        reply = client.chat.completions.create(model="chat-4", messages=request)
        history.append(reply.choices[0].message)
        memory.complete(history)
        print(f"person: {text.strip()}")
        for message in request[1:]:  # what gitmem put into the request
            if "<relevant_memories" in str(message):
                print(message["content"])
        print(f"agent: {reply.choices[0].message.content}")
        memory.wait()  # an agent would go on; here the next turn shows what came of this one
        if memory.last_error:
            print(f"memory: {memory.last_error}")
