package stream

// Where in a chunk a name stands.
const (
	inOther = iota
	inRoot
	inTop
	inChoices
	inChoice
	inDelta
	inNvext
)

// The names that matter.
const (
	noKey = iota
	keyChoices
	keyUsage
	keyError
	keyObject
	keyMessage
	keyDelta
	keyText      // content, text, refusal
	keyReasoning // reasoning, reasoning_content
	keyToolCalls
	keyFunction // function_call, the older form of a tool call
	keyFinish
	keyIndex
	keyNvext
	keyTiming
)

// opened says where a new object or array stands and what its presence means.
func opened(where uint8, key int, bracket byte, filled bool) (uint8, Kind) {
	switch where {
	case inRoot:
		return inTop, 0
	case inTop:
		switch {
		case key == keyChoices && bracket == '[':
			return inChoices, Choices
		case key == keyUsage && bracket == '{':
			return inOther, Usage
		case key == keyError:
			return inOther, Error
		case key == keyNvext && bracket == '{':
			return inNvext, 0
		}
	case inChoices:
		if bracket == '{' {
			return inChoice, 0
		}
	case inChoice:
		if key == keyDelta && bracket == '{' {
			return inDelta, 0
		}
	case inNvext:
		if key == keyTiming && bracket == '{' {
			return inOther, Timing
		}
	case inDelta:
		if !filled {
			return inOther, 0
		}
		switch {
		case bracket == '[' && (key == keyToolCalls || key == keyText), bracket == '{' && key == keyFunction:
			return inOther, Token | Visible
		case bracket == '[' && key == keyReasoning:
			return inOther, Token
		}
	}
	return inOther, 0
}

// stringValue says what a string means under a name.
func stringValue(key int, text []byte) Kind {
	if len(text) == 0 {
		return 0
	}
	switch key {
	case keyText:
		return Token | Visible
	case keyReasoning:
		return Token
	case keyFinish:
		return Finish
	case keyError:
		return Error
	case keyMessage:
		return Message
	case keyObject:
		if string(text) == "error" {
			return Error
		}
	}
	return 0
}

// literalValue says what a number, true, false or null means under a name.
func literalValue(key int, rest []byte) Kind {
	switch key {
	case keyError:
		if rest[0] != 'n' && rest[0] != 'f' {
			return Error
		}
	case keyIndex:
		if rest[0] != '0' && rest[0] != 'n' {
			return Multi
		}
	}
	return 0
}

// keyOf recognises a name in its place.
func keyOf(where uint8, name []byte) int {
	switch where {
	case inTop:
		switch string(name) {
		case "choices":
			return keyChoices
		case "usage":
			return keyUsage
		case "error":
			return keyError
		case "object":
			return keyObject
		case "message", "detail":
			return keyMessage
		case "nvext":
			return keyNvext
		}
	case inChoice:
		switch string(name) {
		case "delta":
			return keyDelta
		case "text":
			return keyText
		case "finish_reason":
			return keyFinish
		case "index":
			return keyIndex
		}
	case inNvext:
		if string(name) == "timing" {
			return keyTiming
		}
	case inDelta:
		switch string(name) {
		case "content", "refusal":
			return keyText
		case "reasoning", "reasoning_content":
			return keyReasoning
		case "tool_calls":
			return keyToolCalls
		case "function_call":
			return keyFunction
		}
	}
	return noKey
}
