import uvicorn


def main() -> None:
    uvicorn.run("pulse.api:app", host="0.0.0.0", port=8080, workers=4)


if __name__ == "__main__":
    main()
